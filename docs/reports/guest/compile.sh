# A parallel compile: 20 C files of 60 functions each, make -j8.
mkdir -p /tmp/src
i=0
while [ $i -lt 20 ]; do
	awk -v n=$i 'BEGIN { for (f = 0; f < 60; f++) printf "int f%d_%d(int a, int b) { int s = 0; for (int i = 0; i < a; i++) { s += b * i; if (s > %d) s -= a; } return s; }\n", n, f, f }' >/tmp/src/u$i.c
	i=$((i + 1))
done
cat >/tmp/src/Makefile <<'END'
OBJ := $(patsubst %.c,%.o,$(wildcard *.c))
all: $(OBJ)
%.o: %.c
	@tcc -nostdinc -c $< -o $@
END
roost compare --variants kernel,warm --runs "$1" --seed 1 --report /out/report.html -- \
	make -s -B -j8 -C /tmp/src | tee /out/table.txt
