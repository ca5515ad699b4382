"""`taut tune`: the loosest error bounds that a program's own check accepts."""
