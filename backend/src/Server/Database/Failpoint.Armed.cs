using System.Diagnostics;
using System.Globalization;

namespace Sluice.Server.Database;

/// <summary>For builds with <c>-p:Failpoints=true</c>: <c>SLUICE_FAILPOINT=name:3</c> kills the process when it reaches the step for the third time.</summary>
internal static partial class Failpoint
{
    // Static, because environment variables are per process.
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
