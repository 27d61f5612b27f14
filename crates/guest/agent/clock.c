// Goes into a guest's kernel, in front of timer_read() of arch/um/kernel/time.c: how long a process takes
// to read its clock, ns. Nothing for the kernel and the agent. A program that reads it in a loop until
// some time has passed must see it pass.
static unsigned int clock_costs = 256;

static int __init set_clock_costs(char *text)
{
	return !kstrtouint(text, 0, &clock_costs);
}
__setup("clock-costs=", set_clock_costs);

