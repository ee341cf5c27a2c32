/* How many flights were flown by planes that the registry does not know? */
SELECT count(*) AS flights, count(DISTINCT f.tailnum) AS planes
FROM flights AS f ANTI JOIN planes AS p USING (tailnum)
WHERE f.tailnum IS NOT NULL
