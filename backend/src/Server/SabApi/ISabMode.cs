namespace Sluice.Server.SabApi;

/// <summary>Handles one value of <c>mode</c>.</summary>
internal interface ISabMode
{
    /// <summary>Case-sensitive.</summary>
    string Name { get; }

    /// <summary>Whether no key is needed.</summary>
    bool IsOpen => false;

    /// <summary>Whether the key for adds is sufficient.</summary>
    bool IsAdd => false;

    Task AnswerAsync(SabCall call);
}
