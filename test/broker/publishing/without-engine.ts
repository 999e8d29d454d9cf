/** Calls a function as on an engine that compiles no routines. */
export function withoutEngine<Result>(call: () => Result): Result {
  const described = Object.getOwnPropertyDescriptor(globalThis, 'WebAssembly');
  Object.defineProperty(globalThis, 'WebAssembly', { value: undefined, configurable: true });
  try {
    return call();
  } finally {
    Object.defineProperty(globalThis, 'WebAssembly', described ?? {});
  }
}
