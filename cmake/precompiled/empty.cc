// A precompiled header needs a source file of its target.
