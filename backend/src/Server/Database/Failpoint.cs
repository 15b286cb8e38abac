using System.Diagnostics;

namespace Sluice.Server.Database;

/// <summary>
/// A named step at which a test ends the process as a power cut would. Only a build with <c>-p:Failpoints=true</c> has them: any other
/// leaves out each call together with its name.
/// </summary>
internal static partial class Failpoint
{
    /// <summary>The process has come to a step.</summary>
    [Conditional("FAILPOINTS")]
    public static void Reach(string name)
    {
        Pass(name);
    }

    static partial void Pass(string name);
}
