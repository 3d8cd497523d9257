import { useSignal } from '@preact/signals';
import { gatewayKey, keepKey } from '../../api/rpc.ts';

/** Asked for where keys exist, and kept as the token is. */
export function KeyForm() {
  const text = useSignal('');
  if (gatewayKey.value !== undefined)
    return (
      <p class="quiet">
        The gateway is asked with your key.{' '}
        <button type="button" class="plain-button" onClick={() => keepKey(undefined)}>
          Use another
        </button>
      </p>
    );
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault();
        keepKey(text.value.trim());
      }}
    >
      <label>
        The gateway wants an API key. It is kept as your token is
        <input
          type="password"
          name="key"
          required
          autocomplete="off"
          value={text.value}
          onInput={(event) => {
            text.value = event.currentTarget.value;
          }}
        />
      </label>
      <button type="submit" class="primary">
        Use it
      </button>
    </form>
  );
}
