/* From which airport do most flights leave, and how late are they? */
SELECT origin, count(*) AS flights, round(avg(dep_delay), 2) AS delay
FROM flights
GROUP BY origin
ORDER BY flights DESC
