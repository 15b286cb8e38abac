using System.Globalization;
using Sluice.Tools.FullNzbTester.Engine;
using Sluice.Tools.FullNzbTester.Mock;

namespace Sluice.Tools.FullNzbTester.Checks;

/// <summary>Holds the engine's counts against those of the mock, which is the judge (contract TST-34 and TST-56). Pure.</summary>
internal static class MockVerdict
{
    /// <summary>Sentences about what does not agree; empty when all does. Both sides have to be at rest.</summary>
    /// <param name="engine">What the engine counted in the whole run.</param>
    /// <param name="mock">What the mock counted.</param>
    /// <param name="connections">Most connections that each provider was to see.</param>
    public static IEnumerable<string> Disagreements(NntpCounters engine, MockCounts mock, int connections)
    {
        // A command can be on its way when its connection is given up; then the mock has not seen it.
        var unseen = engine.Unanswered;
        if (!Agree(engine.Bodies, mock.Total.Bodies, unseen))
            yield return Sentence("BODY commands", engine.Bodies, mock.Total.Bodies);
        if (!Agree(engine.Commands, mock.Total.Commands, unseen))
            yield return Sentence("commands", engine.Commands, mock.Total.Commands);

        // A connection that was given up while it was being made can have come about all the same; then only the mock knows.
        if (!Agree(mock.Total.Opened, engine.SocketsOpened, engine.SocketsAbandoned))
            yield return Sentence("connections opened", engine.SocketsOpened, mock.Total.Opened);

        // The engine counts a socket before it connects and until the other side must have noticed its end, so its peak is never the lower one.
        if (mock.Total.Peak > engine.SocketsPeak)
            yield return Sentence("connections at a time", engine.SocketsPeak, mock.Total.Peak);
        foreach (var sentence in OverTheCap(mock, connections))
            yield return sentence;
    }

    /// <summary>Sentences about connections that no provider should have seen.</summary>
    /// <param name="mock">What the mock counted.</param>
    /// <param name="connections">Most connections that each provider was to see.</param>
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

    /// <summary>Whether the one is the other, or more by at most what may have escaped the other.</summary>
    private static bool Agree(long more, long less, long escaped) => less <= more && more - less <= escaped;

    private static string Sentence(string what, long engine, long mock) =>
        string.Create(CultureInfo.InvariantCulture, $"engine and mock disagree about {what}: {engine} and {mock}");
}
