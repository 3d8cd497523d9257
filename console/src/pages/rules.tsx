/** The rules of the account. */
export function Rules() {
  return (
    <div class="page">
      <h1>Rules</h1>
    </div>
  );
}
