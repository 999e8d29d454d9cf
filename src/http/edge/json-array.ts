import { giveWay, type Clock } from '../../clock.ts';

/** How long writing a list may block the rest of the process. Milliseconds. */
const sliceMilliseconds = 10;

/** A JSON array of items that are written one by one, with a pause for other requests whenever a slice is used up. */
export async function writeJsonArray<Item>(
  items: Iterable<Item>,
  write: (item: Item) => string,
  clock: Clock,
): Promise<string> {
  const texts: string[] = [];
  let sliceEnd = clock.monotonic() + sliceMilliseconds;
  for (const item of items) {
    texts.push(write(item));
    if (clock.monotonic() < sliceEnd) continue;
    await giveWay();
    sliceEnd = clock.monotonic() + sliceMilliseconds;
  }
  return `[${texts.join(',')}]`;
}
