using Xunit;
namespace Sluice.Usenet.Tests;

/// <summary>Waits for what other threads bring about, and fails with what was seen last.</summary>
internal static class Eventually
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(10);

    public static async Task HoldsAsync(Func<bool> condition, Func<string> seen, CancellationToken cancellationToken)
    {
        var started = TimeProvider.System.GetTimestamp();
        while (!condition())
        {
            if (TimeProvider.System.GetElapsedTime(started) > Patience)
                Assert.Fail(seen());
            await Task.Delay(TimeSpan.FromMilliseconds(5), TimeProvider.System, cancellationToken);
        }
    }
}
