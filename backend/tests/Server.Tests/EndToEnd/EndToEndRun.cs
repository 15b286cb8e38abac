using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>
/// The collection of the tests that must not share the machine with other tests, because they measure memory, rates or start times, build
/// the server, or start it a hundred times. Tests that decide have a server and a port of their own, stand outside the collection, and run
/// side by side.
/// </summary>
[CollectionDefinition(Name, DisableParallelization = true)]
public sealed class EndToEndRun
{
    /// <summary>Name of the collection, and value of the trait <c>Category</c> of each test that starts the built server and decides.</summary>
    public const string Name = "EndToEnd";

    /// <summary>Tests that measure. <c>tools/test.sh --all</c> runs them, one at a time.</summary>
    public const string Measures = "Measures";

    /// <summary>Readers for three minutes, a part of the table in <c>tools/parts.sh</c>.</summary>
    public const string Soak = "Soak";

    /// <summary>One test for each room, which also runs against the form that ships when that could have changed.</summary>
    public const string Smoke = "Smoke";

    /// <summary>Tests that take over five minutes by design. <c>tools/test.sh --long</c> runs them.</summary>
    public const string Lengthy = "Long";
}
