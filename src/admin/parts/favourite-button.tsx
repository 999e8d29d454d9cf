import type { JSX } from 'preact';
import { currentPath, favourites, toggleFavourite } from '../favourites.ts';

/** Marks the page that is shown as a favourite, which the search lists first. */
export function FavouriteButton({ name }: { name: string }): JSX.Element {
  const to = currentPath();
  const isMarked = favourites.value.some((favourite) => favourite.to === to);
  return (
    <button
      type="button"
      class="icon favourite"
      aria-pressed={isMarked}
      aria-label="Favourite"
      title={isMarked ? 'Remove from the favourites' : 'Add to the favourites'}
      onClick={() => toggleFavourite({ to, name })}
    >
      <svg width="16" height="16" viewBox="0 0 16 16" stroke="currentColor" stroke-width="1.3" aria-hidden="true">
        <path
          d="M8 1.8l1.9 3.9 4.3.6-3.1 3 .7 4.3L8 11.6l-3.8 2 .7-4.3-3.1-3 4.3-.6z"
          fill={isMarked ? 'currentColor' : 'none'}
          stroke-linejoin="round"
        />
      </svg>
    </button>
  );
}
