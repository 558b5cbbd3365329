# A line of a header that begins with a comment of two slashes becomes documentation. Lines with dashes part
# sections and are none.
s@^([[:space:]]*)// ----.*$@\1@
s@^([[:space:]]*)//( |$)@\1///\2@
# What a comment behind a member says.
s@([;,{}]) +// @\1  ///< @
