// Package strictyaml reads files that people write for tollgate: fixtures,
// contracts and screen preferences. It knows none of them.
//
//	bytes ──► Parse ──► Document ──► Root ──► Value ──► Object, Named, List, Str, Count, …
//
// It takes the part of YAML that means one thing to everybody, and any JSON:
// UTF-8, one document, names as keys, each once. An anchor, an alias, a tag, a
// merge key and a directive are errors, and so is a spelling that YAML readers
// disagree about, such as yes for true.
//
// A file is read with closures, a field each, and its errors are looked at
// once, at the end: a Document keeps the first [Error], with line, column and
// path, and everything after it is a no-op. What a reader finds wrong by rules
// of its own goes the same way, by Refuse.
//
// Parse takes any bytes, and bounds what it spends on them. An error is one
// line that a terminal can only show, whatever the file and its name hold.
package strictyaml
