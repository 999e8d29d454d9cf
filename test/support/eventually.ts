/** Waits until something holds that no event announces. */
export async function eventually(condition: () => boolean | Promise<boolean>, milliseconds = 5_000): Promise<void> {
  const endsAt = performance.now() + milliseconds;
  while (!(await condition())) {
    if (performance.now() > endsAt) throw new Error(`Waited in vain for ${String(condition)}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
