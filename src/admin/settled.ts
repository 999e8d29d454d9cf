import { useEffect, useState } from 'preact/hooks';
import { after } from '../client/clock.ts';

/** How long after the last key press something is searched. */
const pauseMilliseconds = 150;

/** A value once it has not changed for a moment, so that not every key press is a request. */
export function useSettled<Value>(value: Value): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => after(pauseMilliseconds, () => setSettled(value)), [value]);
  return settled;
}
