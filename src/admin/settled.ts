import { useEffect, useState } from 'preact/hooks';

/** How long after the last key press something is searched. */
const pauseMilliseconds = 150;

/** A value once it has not changed for a moment, so that not every key press is a request. */
export function useSettled<Value>(value: Value): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), pauseMilliseconds);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
