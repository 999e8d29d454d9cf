import { connection } from './connection-state.ts';

const keyName = 'lendstream.api-key';

/** The key that a user entered in this tab; null when there is none. */
export function storedKey(): string | null {
  return sessionStorage.getItem(keyName);
}

/** Keeps the key as long as the tab is open, and requests everything shown again. */
export function saveKey(key: string): void {
  sessionStorage.setItem(keyName, key);
  const { generation, ...rest } = connection.value;
  connection.value = { ...rest, keyRequired: false, generation: generation + 1 };
}

/** Forgets the key, and what was loaded with it: the page opens again. */
export function signOut(): void {
  sessionStorage.removeItem(keyName);
  location.reload();
}
