using Sluice.Tools.FullNzbTester.Checks;
using Sluice.Tools.FullNzbTester.Sessions;

namespace Sluice.Tools.FullNzbTester.Steps;

/// <summary>Counts fetches still in progress long after every reader has closed. There must be none.</summary>
internal static class Leftovers
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(10);

    /// <summary>Waits for the session to settle, and fails the run if it does not.</summary>
    /// <returns>Held permits, or commands pending at the mock.</returns>
    public static async Task<long> CountAsync(IContentSession session, Findings findings, CancellationToken cancellationToken)
    {
        using var patience = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        patience.CancelAfter(Patience);
        try
        {
            await session.SettleAsync(patience.Token);
            return 0;
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            var left = await session.UnderWayAsync(cancellationToken);
            findings.Fail($"{Patience.TotalSeconds:0} s after the last reader had gone {left} fetches were still under way");
            return left;
        }
    }
}
