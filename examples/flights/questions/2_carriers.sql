/* Which three carriers arrive latest? */
SELECT a.name, count(*) AS arrivals, round(avg(f.arr_delay), 2) AS delay
FROM flights AS f JOIN airlines AS a USING (carrier)
WHERE f.arr_delay IS NOT NULL
GROUP BY a.name
ORDER BY delay DESC
LIMIT 3
