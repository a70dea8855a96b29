// SPDX-License-Identifier: Apache-2.0
#include "llm/run/conversation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "llm/run/tiny_model.h"

namespace nereid::llm {
namespace {

using ::testing::HasSubstr;

class ConversationTest : public ::testing::Test {
 protected:
  testing::TinyModel tiny_{"tiny-qwen3"};
  Conversation conversation_{tiny_.model->tokenizer(), chat::builtin_template("chatml").value()};
};

TEST_F(ConversationTest, messages_are_written_by_the_template_up_to_where_the_answer_begins) {
  conversation_.set_system("Be brief.");
  conversation_.add("user", "Hi");
  EXPECT_EQ(conversation_.text().value(),
            "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n");
  const std::string text = conversation_.text().value();
  EXPECT_EQ(conversation_.prompt().value(),
            tiny_.model->tokenizer().encode(text, {.add_special = false, .parse_special = true}));
}

TEST_F(ConversationTest, the_oldest_exchange_goes_first_and_the_last_question_stays) {
  conversation_.set_system("S");
  for (const char* text : {"1", "2", "3"}) {
    conversation_.add("user", text);
    if (text[0] != '3') conversation_.add("assistant", "answer");
  }
  EXPECT_TRUE(conversation_.drop_oldest());
  EXPECT_EQ(conversation_.messages().size(), 4U);
  EXPECT_EQ(conversation_.messages()[1]["content"], "2");
  EXPECT_TRUE(conversation_.drop_oldest());
  EXPECT_FALSE(conversation_.drop_oldest());
  EXPECT_EQ(conversation_.messages()[0]["role"], "system");
  EXPECT_EQ(conversation_.messages()[1]["content"], "3");
}

TEST_F(ConversationTest, the_template_is_the_models_own_unless_another_is_chosen) {
  EXPECT_EQ(choose_template(*tiny_.model)->source(), tiny_.model->tokenizer().chat_template());
  EXPECT_EQ(choose_template(*tiny_.model, "llama3")->source(), chat::builtin_template("llama3")->source());
  const Status none = choose_template(*tiny_.model, "/nowhere/at/all").status();
  EXPECT_EQ(none.code(), StatusCode::kNotFound);
  EXPECT_THAT(none.message(), HasSubstr("chatml"));
}

}  // namespace
}  // namespace nereid::llm
