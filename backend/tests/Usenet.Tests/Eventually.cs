using Xunit;
namespace Sluice.Usenet.Tests;

/// <summary>Waits until other threads make a condition true, and fails with the last observed state.</summary>
internal static class Eventually
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(10);

    /// <param name="condition">The awaited condition.</param>
    /// <param name="seen">Describes the state that was observed instead.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <param name="after">A delay that is legitimate, in addition to the usual timeout.</param>
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
