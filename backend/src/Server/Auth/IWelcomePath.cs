namespace Sluice.Server.Auth;

/// <summary>Something worth showing to whoever starts Sluice for the first time.</summary>
internal interface IWelcomePath
{
    /// <summary>What it is, in a word or two.</summary>
    string Title { get; }

    /// <summary>Its path in the tree, percent-encoded and beginning with a slash; null when there is nothing to show.</summary>
    string? Path { get; }
}
