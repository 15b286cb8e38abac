using System.Diagnostics;
using System.Globalization;

namespace Sluice.Server.Database;

/// <summary>
/// The part for builds with <c>-p:Failpoints=true</c>: <c>SLUICE_FAILPOINT=name:3</c> kills the process the third time that it reaches that step.
/// The kill is immediate, so that nothing more is written.
/// </summary>
internal static partial class Failpoint
{
    // Static, because the environment variable belongs to the process.
    private static readonly string[] Armed = (Environment.GetEnvironmentVariable("SLUICE_FAILPOINT") ?? "").Split(':');
    private static int _left = Armed.Length > 1 ? int.Parse(Armed[1], CultureInfo.InvariantCulture) : 1;

    static partial void Pass(string name)
    {
        if (name != Armed[0] || Interlocked.Decrement(ref _left) != 0)
            return;
        using var self = Process.GetCurrentProcess();
        self.Kill();
    }
}
