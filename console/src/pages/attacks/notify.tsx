import { isNotifying, obstacle, setNotifying } from '../../notifications.ts';

export function NotifySwitch() {
  const isOn = isNotifying.value;
  return (
    <p class="notify">
      Notifications of new attacks in this browser, while a tab is open:{' '}
      {obstacle.value === undefined ? (
        <>
          <strong>{isOn ? 'on' : 'off'}</strong>{' '}
          <button type="button" onClick={() => void setNotifying(!isOn)}>
            {isOn ? 'Switch off' : 'Switch on'}
          </button>
        </>
      ) : (
        <span class="look">! not possible, {obstacle.value}.</span>
      )}
    </p>
  );
}
