/** Loaded before the service: its clock is ahead by CLOCK_AHEAD milliseconds. */
const ahead = Number(process.env['CLOCK_AHEAD']);
const { now } = Date;
Date.now = () => now() + ahead;
