"""`taut bench-fabric`: plain MPI against Taut on the nodes of a job, as a JSON file and a page."""
