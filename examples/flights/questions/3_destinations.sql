/* Where do New Yorkers fly? */
SELECT f.dest, a.name, count(*) AS flights
FROM flights AS f LEFT JOIN airports AS a ON a.faa = f.dest
GROUP BY f.dest, a.name
ORDER BY flights DESC
LIMIT 5
