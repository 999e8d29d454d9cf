import { connection } from './connection-state.ts';

const keyName = 'lendstream.api-key';

/** The key that a user entered in this tab; null when there is none. */
export function storedKey(): string | null {
  return sessionStorage.getItem(keyName);
}

/** Keeps the key as long as the tab is open, and requests everything shown again. */
export function saveKey(key: string): void {
  sessionStorage.setItem(keyName, key);
  const { generation, ...rest } = connection.get();
  connection.set({ ...rest, keyRequired: false, generation: generation + 1 });
}
