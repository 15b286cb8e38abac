using Xunit;
namespace Sluice.Usenet.Tests;

/// <summary>Waits for what other threads bring about, and fails with what was seen last.</summary>
internal static class Eventually
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(10);

    /// <param name="condition">What is waited for.</param>
    /// <param name="seen">What it is instead.</param>
    /// <param name="cancellationToken">Gives the wait up.</param>
    /// <param name="after">What may lie ahead of it by right, before the wait proper.</param>
    public static async Task HoldsAsync(Func<bool> condition, Func<string> seen, CancellationToken cancellationToken, TimeSpan after = default)
    {
        var started = TimeProvider.System.GetTimestamp();
        while (!condition())
        {
            if (TimeProvider.System.GetElapsedTime(started) > after + Patience)
                Assert.Fail(seen());
            await Task.Delay(TimeSpan.FromMilliseconds(5), TimeProvider.System, cancellationToken);
        }
    }
}
