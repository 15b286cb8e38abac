namespace Sluice.Usenet.Nntp;

/// <summary>How one command ended at one provider.</summary>
/// <param name="MissCode">430, 423 or 451 when the provider does not have the article; 0 when what was asked for has come.</param>
/// <param name="Proof">Of what was missed; null where nothing was, or nothing was outstanding behind it.</param>
internal readonly record struct ReplyOutcome(int MissCode, StepProof? Proof = null)
{
    public static ReplyOutcome Delivered => default;

    public bool IsMiss => MissCode != 0;
}
