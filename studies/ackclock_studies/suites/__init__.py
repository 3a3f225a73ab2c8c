"""The field's test sets, a module or a folder each."""
