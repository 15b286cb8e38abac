using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>
/// The collection of the tests that must run alone, because they measure memory, rates or start times, build the server, or start it a
/// hundred times. Other tests start a server on a port of their own, so they stay outside the collection and run concurrently.
/// </summary>
[CollectionDefinition(Name, DisableParallelization = true)]
public sealed class EndToEndRun
{
    /// <summary>Name of the collection, and value of the trait <c>Category</c> of each test that checks behavior of the built server.</summary>
    public const string Name = "EndToEnd";

    /// <summary>Tests that measure. <c>tools/test.sh --all</c> runs them one at a time.</summary>
    public const string Measures = "Measures";

    /// <summary>Bad news servers for three minutes, and a real one: a part of the table in <c>tools/parts.sh</c>.</summary>
    public const string Chaos = "Chaos";

    /// <summary>Readers that run for three minutes, a part of the table in <c>tools/parts.sh</c>.</summary>
    public const string Soak = "Soak";

    /// <summary>One test for each room, which also runs against the shipped form if a change could affect that form.</summary>
    public const string Smoke = "Smoke";

    /// <summary>Tests that take more than five minutes by design. <c>tools/test.sh --long</c> runs them.</summary>
    public const string Lengthy = "Long";
}
