#include "move.h"
const struct named move_race_cases[]={{0,0,0}};
const unsigned int nr_move_race_cases;
