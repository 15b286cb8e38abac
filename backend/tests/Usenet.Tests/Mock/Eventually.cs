using Xunit;

namespace Sluice.Usenet.Tests.Mock;

/// <summary>Waits until another thread makes a condition true, without assuming how long that takes.</summary>
internal static class Eventually
{
    public static async Task IsTrueAsync(Func<bool> condition)
    {
        while (!condition())
            await Task.Delay(TimeSpan.FromMilliseconds(1), TimeProvider.System, TestContext.Current.CancellationToken);
    }
}
