import { useEffect, useState } from 'preact/hooks';

/** One value that several parts of the page observe. */
export interface Store<Value> {
  get(): Value;
  set(value: Value): void;
  onChange(listener: () => void): () => void;
}

export function store<Value>(initial: Value): Store<Value> {
  let current = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => current,
    set(value) {
      current = value;
      for (const listener of listeners) listener();
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** The current value, and each later one. */
export function useStore<Value>(followed: Store<Value>): Value {
  const [value, setValue] = useState(followed.get());
  useEffect(() => {
    setValue(followed.get());
    return followed.onChange(() => setValue(followed.get()));
  }, [followed]);
  return value;
}
