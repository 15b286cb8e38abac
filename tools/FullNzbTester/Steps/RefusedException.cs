namespace Sluice.Tools.FullNzbTester.Steps;

/// <summary>Thrown if the NZB cannot be used, for a reason of the import contract.</summary>
internal sealed class RefusedException(string reason, string message) : Exception(message)
{
    public string Reason => reason;
}
