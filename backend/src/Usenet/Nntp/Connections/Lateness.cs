namespace Sluice.Usenet.Nntp.Connections;

/// <summary>What a late reply comes to.</summary>
internal enum Lateness
{
    /// <summary>It is waited for, because no reader waits or there is no other provider to ask.</summary>
    Borne,

    /// <summary>Its article has been asked for elsewhere as well.</summary>
    Raced,

    /// <summary>It was itself such a second question: it is left for a third.</summary>
    Left,
}
