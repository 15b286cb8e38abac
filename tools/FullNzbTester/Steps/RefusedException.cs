namespace Sluice.Tools.FullNzbTester.Steps;

/// <summary>The NZB cannot be used, for a reason of the import contract.</summary>
internal sealed class RefusedException(string reason, string message) : Exception(message)
{
    /// <summary>Name of the reason.</summary>
    public string Reason => reason;
}
