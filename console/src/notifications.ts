/** Notifications of the browser about new attacks. The choice is kept in this browser. */
import { computed, signal } from '@preact/signals';

const STORAGE_KEY = 'floodgate.notify';
const isWanted = signal(localStorage.getItem(STORAGE_KEY) !== null);
const permission = signal<NotificationPermission | undefined>(
  'Notification' in window ? Notification.permission : undefined,
);

/** Returns why the browser shows no notifications; undefined if it can. */
export function obstacleOf(isSecure: boolean, given: NotificationPermission | undefined): string | undefined {
  if (!isSecure) return 'the browser allows them only over HTTPS or on localhost';
  if (given === undefined) return 'this browser has none';
  return given === 'denied' ? 'the browser blocks them for this site; allow them in its settings' : undefined;
}

export const obstacle = computed(() => obstacleOf(isSecureContext, permission.value));
export const isNotifying = computed(() => isWanted.value && permission.value === 'granted');

/** Switches notifications on or off. Must be called by a click, because the browser may ask for permission. */
export async function setNotifying(wanted: boolean): Promise<void> {
  if (wanted) permission.value = await Notification.requestPermission();
  isWanted.value = wanted && permission.value === 'granted';
  if (isWanted.value) localStorage.setItem(STORAGE_KEY, 'on');
  else localStorage.removeItem(STORAGE_KEY);
}
