namespace Sluice.Server.SabApi;

/// <summary>One value of <c>mode</c>.</summary>
internal interface ISabMode
{
    /// <summary>The value, in its exact case.</summary>
    string Name { get; }

    /// <summary>Whether it is answered without a key.</summary>
    bool IsOpen => false;

    /// <summary>Whether the key that opens adds alone is enough.</summary>
    bool IsAdd => false;

    /// <summary>Answers a call.</summary>
    Task AnswerAsync(SabCall call);
}
