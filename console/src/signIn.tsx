import { useSignal } from '@preact/signals';
import { signIn, signInFailure } from './session.ts';
import { ErrorBox } from './ui/errorBox.tsx';
import { TextField } from './ui/form/fields.tsx';

export function SignIn() {
  const token = useSignal('');
  const isBusy = useSignal(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    isBusy.value = true;
    await signIn({ token: token.value.trim() });
    if (signInFailure.value?.status !== undefined) token.value = '';
    isBusy.value = false;
  };
  return (
    <main class="sign-in" id="page">
      <h1>Floodgate</h1>
      <p class="quiet">
        Sign in with a token of the rules API. This browser stays signed in for 12 hours, and does not keep
        the token.
      </p>
      {signInFailure.value && <ErrorBox failure={signInFailure.value} />}
      <form onSubmit={submit}>
        <TextField label="Token" type="password" name="token" required text={token} />
        <button type="submit" class="primary" disabled={isBusy.value}>
          Sign in
        </button>
      </form>
      <p class="quiet">
        No token? <code>floodgate token create --account NAME</code> creates one.{' '}
        <code>floodgate console</code> prints a link that signs you in.
      </p>
    </main>
  );
}
