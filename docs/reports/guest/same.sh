# The same scheduler twice: the measuring itself must not make a difference.
roost compare --variants kernel,kernel --runs "$1" --seed 1 --report /out/report.html -- \
	roost load hackbench -g 1 -f 5 -l 40 --threads --pipe | tee /out/table.txt
