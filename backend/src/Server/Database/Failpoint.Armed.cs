using System.Diagnostics;
using System.Globalization;

namespace Sluice.Server.Database;

/// <summary>
/// The half that a build with <c>-p:Failpoints=true</c> has: <c>SLUICE_FAILPOINT=name:3</c> ends the process when it comes to the step of that
/// name for the third time, without a word and without a chance to write anything.
/// </summary>
internal static partial class Failpoint
{
    // Of the process, as its variable is.
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
