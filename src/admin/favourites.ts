import { signal } from '@preact/signals';
import { address, base } from './navigation.ts';

/** Pages that the user marked, kept in this browser. */

export interface Favourite {
  /** A path behind /admin. */
  readonly to: string;
  readonly name: string;
}

const storageName = 'lendstream.favourites';
const favouritesMaximum = 100;

export const favourites = signal<readonly Favourite[]>(stored());

/** The path of the page that is shown, without its query. */
export function currentPath(): string {
  return address.value.pathname.slice(base.length);
}

/** Marks a page, or takes the mark away. */
export function toggleFavourite({ to, name }: Favourite): void {
  const others = stored().filter((favourite) => favourite.to !== to);
  const isMarked = favourites.value.some((favourite) => favourite.to === to);
  favourites.value = isMarked ? others : [{ to, name }, ...others].slice(0, favouritesMaximum);
  localStorage.setItem(storageName, JSON.stringify(favourites.value));
}

function stored(): readonly Favourite[] {
  try {
    const list: unknown = JSON.parse(localStorage.getItem(storageName) ?? '[]');
    return Array.isArray(list) ? (list as unknown[]).filter(isFavourite) : [];
  } catch {
    // What is kept in a browser may be anything.
    return [];
  }
}

function isFavourite(value: unknown): value is Favourite {
  return (
    typeof value === 'object' &&
    value !== null &&
    'to' in value &&
    typeof value.to === 'string' &&
    'name' in value &&
    typeof value.name === 'string'
  );
}
