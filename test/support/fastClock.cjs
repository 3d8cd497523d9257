// Preloaded before the program: its monotonic clock runs sixty times as fast, so that a minute lasts a second. Timers
// are not affected.
const FACTOR = 60;
const now = performance.now.bind(performance);
performance.now = () => FACTOR * now();
