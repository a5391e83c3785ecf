# Makes a table of the lines of BenchmarkCommit: medians over what was counted.

function median(row, unit,    n, i, j, v, t) {
	n = split(seen[row, unit], v, " ")
	for (i = 2; i <= n; i++)
		for (j = i; j > 1 && v[j - 1] + 0 > v[j] + 0; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
	return (v[int((n + 1) / 2)] + v[int(n / 2) + 1]) / 2
}

$1 == "sync:" { sync = $2 }

/^BenchmarkCommit\// {
	split($1, part, /[\/=-]/)
	row = sync " " part[3] " " part[5]
	if (!(row in known)) { known[row] = 1; rows[++n] = row }
	for (i = 3; i < NF; i += 2) seen[row, $(i + 1)] = seen[row, $(i + 1)] " " $i
}

END {
	printf "\n%-8s %7s %-8s %11s %11s %8s %9s %9s %7s %8s\n", "fdata-", "callers", "runs", "decisions/s", "ceiling/s", "share of", "p99 ms", "ceiling's", "times", "CPU µs a"
	printf "%-8s %7s %-8s %11s %11s %8s %9s %9s %7s %8s\n", "sync", "", "", "", "", "ceiling", "", "p99 ms", "it", "decision"
	for (r = 1; r <= n; r++) {
		split(rows[r], name, " ")
		printf "%-8s %7d %-8s %11.0f %11.0f %8.2f %9.2f %9.2f %7.1f %8.0f\n", name[1], name[2], (name[3] == "one" ? "all on 1" : name[2]),
			median(rows[r], "decisions/s"), median(rows[r], "ceiling/s"), median(rows[r], "share"),
			median(rows[r], "p99-ms"), median(rows[r], "c99-ms"), median(rows[r], "p99-ratio"), median(rows[r], "cpu-us")
	}
}
