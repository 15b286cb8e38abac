using System.Globalization;
using Sluice.Tools.FullNzbTester.Engine;
using Sluice.Tools.FullNzbTester.Mock;

namespace Sluice.Tools.FullNzbTester.Checks;

/// <summary>Compares the engine's counters with the authoritative ones of the mock (contract TST-34 and TST-56). Pure.</summary>
internal static class MockVerdict
{
    /// <summary>Returns a message for each counter that disagrees. Engine and mock must be idle.</summary>
    /// <param name="engine">Engine counters of the whole run.</param>
    /// <param name="connections">Maximum number of connections per provider.</param>
    public static IEnumerable<string> Disagreements(NntpCounters engine, MockCounts mock, int connections)
    {
        // The mock may miss a command if its connection was abandoned while the command was in transit.
        var unseen = engine.Unanswered;
        if (!Agree(engine.Bodies, mock.Total.Bodies, unseen))
            yield return Sentence("BODY commands", engine.Bodies, mock.Total.Bodies);
        if (!Agree(engine.Commands, mock.Total.Commands, unseen))
            yield return Sentence("commands", engine.Commands, mock.Total.Commands);

        // A connection abandoned during its setup may still have been established. Only the mock knows, so it may count more.
        if (!Agree(mock.Total.Opened, engine.SocketsOpened, engine.SocketsAbandoned))
            yield return Sentence("connections opened", engine.SocketsOpened, mock.Total.Opened);

        // The engine counts a socket from before it connects until the peer must have seen it close. So its peak must not be below the mock's.
        if (mock.Total.Peak > engine.SocketsPeak)
            yield return Sentence("connections at a time", engine.SocketsPeak, mock.Total.Peak);
        foreach (var sentence in OverTheCap(mock, connections))
            yield return sentence;
    }

    /// <summary>Returns a message for each provider that saw too many connections.</summary>
    /// <param name="connections">Maximum number of connections per provider.</param>
    public static IEnumerable<string> OverTheCap(MockCounts mock, int connections)
    {
        for (var provider = 0; provider < mock.Providers.Count; provider++)
        {
            var counts = mock.Providers[provider];
            if (counts.Refused > 0)
                yield return string.Create(CultureInfo.InvariantCulture, $"provider {provider} refused {counts.Refused} connections over its cap");
            if (counts.Peak > connections)
                yield return string.Create(CultureInfo.InvariantCulture, $"provider {provider} saw {counts.Peak} connections at a time, {connections} are allowed");
        }
    }

    /// <summary>Whether both counts are equal, or the first is higher by at most <paramref name="escaped"/>.</summary>
    private static bool Agree(long more, long less, long escaped) => less <= more && more - less <= escaped;

    private static string Sentence(string what, long engine, long mock) =>
        string.Create(CultureInfo.InvariantCulture, $"engine and mock disagree about {what}: {engine} and {mock}");
}
