# Writes the file IN as an array of bytes into the C++ file OUT.
file(READ ${IN} hex HEX)
string(LENGTH "${hex}" digits)
math(EXPR bytes "${digits} / 2")
string(REGEX REPLACE "(..)" "0x\\1," code "${hex}")
file(WRITE ${OUT} "namespace itemdb {
extern const unsigned char kFileDescriptors[];
extern const unsigned kFileDescriptorsBytes;
const unsigned char kFileDescriptors[] = {${code}};
const unsigned kFileDescriptorsBytes = ${bytes};
}
")
