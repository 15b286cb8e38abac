namespace Sluice.Server.SabApi;

/// <summary>Handles one value of <c>mode</c>.</summary>
internal interface ISabMode
{
    /// <summary>The value of <c>mode</c>, case-sensitive.</summary>
    string Name { get; }

    /// <summary>Whether the mode works without a key.</summary>
    bool IsOpen => false;

    /// <summary>Whether the NZB key, which only allows adding, is sufficient.</summary>
    bool IsAdd => false;

    Task AnswerAsync(SabCall call);
}
