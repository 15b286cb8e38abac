using System.Diagnostics;

namespace Sluice.Server.Database;

/// <summary>Named steps at which a test kills the process to simulate a power cut. Only builds with <c>-p:Failpoints=true</c> contain the calls.</summary>
internal static partial class Failpoint
{
    [Conditional("FAILPOINTS")]
    public static void Reach(string name)
    {
        Pass(name);
    }

    static partial void Pass(string name);
}
