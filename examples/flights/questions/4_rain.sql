/* Does rain make flights late? */
SELECT w.precip > 0 AS rain, count(*) AS flights, round(avg(f.dep_delay), 2) AS delay
FROM flights AS f JOIN weather AS w USING (origin, time_hour)
GROUP BY rain
ORDER BY rain
